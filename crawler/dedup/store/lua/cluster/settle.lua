-- Decides attempts of this shard: a compare-and-set from "being checked" to kept or copy.
--
-- ARGV  see shard.lua; for each attempt: local number (4 bytes), token (4), the page's table key of
--       the URL (4) and exact hash (12), decision (1, a letter: u unique, s short, e exact, n near);
--       then global number of the original (4), bits in which the odd sketches differ (2), their
--       level (1), sampled shingles of the page (2) and of the original (2), similarity in hundredths
--       (1), of which a kept page only has level and sampled; and global number of the page whose
--       place it takes (4), 0 for none
--
-- Returns for each attempt its answer without the URL; then, if it replaces a kept page, that
-- page's local number (4) and the result of keep_no_more in attempts.lua. '' if another worker has
-- ended the attempt: then nothing is decided. A repeated call gets the same answer. A kept page with a
-- drop override and without a similar page stays kept, with its copies: the answer has the number of
-- its record, and the attempt's number is not used; a repeated call then gets ''.

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

local function settle(item)
  local id, token, url_key, exact, standing, rep, odd_bits, level, sampled, rep_sampled, hundredths,
    replaces = struct.unpack('>I4c4c4c12c1I4I2BI2I2BI4', item)
  local attempt = read_attempt(id)
  if not attempt or attempt.page.token ~= token then
    local meta = read_record(id, 0)
    if not meta or meta.url_key ~= url_key or meta.exact ~= exact then return '' end
    if meta.token ~= token then meta.last = meta.standing end -- its URL has been checked again since
    return pack_answer(meta)
  end
  local page = attempt.page
  note_seen(page)
  local copy = standing == 'e' or standing == 'n'
  local known, same_text = attempt.replaces > 0, attempt.same_text
  local old = known and read_record(attempt.replaces, 0)
  -- A kept page with an unchanged text, checked for a drop override or as contested, and without a similar
  -- page.
  if same_text and old and not old.rep and not copy and not attempt.anew and not attempt.renewed then
    touch(old, page)
    end_attempt(attempt)
    return pack_answer(old)
  end
  local meta = {id = id, standing = standing, first_seen = attempt.first_seen,
    last_seen = later(page.seen, old), gone = old and still_gone(page, old) or nil, token = token,
    url = page.url, url_key = page.url_key, words = page.words, exact = page.exact, level = level,
    sampled = sampled, sketch = ''}
  if copy then
    meta.rep, meta.odd_bits, meta.rep_sampled = rep, odd_bits, rep_sampled
    meta.last = same_text and old and old.rep and as_before(page, old) or standing
  else
    local is_as_before = same_text and old and not old.rep
    meta.last = known and '!' or standing
    if is_as_before then meta.last, meta.token = as_before(page, old) end
    meta.rank, meta.canonical = page.rank, page.yields_to or nil
    meta.replaces, meta.own = replaces, page.own
    meta.sketch, meta.anchors = page.bands .. string.sub(page.odd, 4), page.more.anchors
  end
  note_fetched(meta, page, old)
  write_record(meta) -- first, because it fails if a key is foreign
  if not copy then state.kept = state.kept + 1 end
  local rest = old and bury(old) or ''
  add(id, find('url', 'url', page.url_key))
  grow('url', URLS)
  end_attempt(attempt)
  -- Only now, because an attempt that was given up leaves this to the next one. And only AGAIN, because
  -- there may be a new override meanwhile.
  if attempt.anew and redis.call('HGET', OVERRIDES, page.url) == AGAIN then
    redis.call('HDEL', OVERRIDES, page.url)
  end
  count(page, meta, (hundredths + 0.5) / 100) -- without 0.5, rounding would count 57 as 56
  if rest ~= '' then rest = struct.pack('>I4', old.id) .. rest end
  return pack_answer(meta) .. rest
end

return saving(each, settle)
