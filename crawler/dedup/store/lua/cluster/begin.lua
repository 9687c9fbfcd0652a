-- Begins to check pages whose URLs belong to this shard; answers at once if nothing has changed.
--
-- ARGV  see shard.lua; for each page: born (8 bytes, the time of the check: the earlier of two
--       attempts goes first); global number (4), 0 for none, of a lost original: an earlier call of this
--       check named it, and counted the page as unchanged, but it no longer stands for the page; the
--       page as in pages.lua, with only its own odd sketch
--
-- Returns for each page a letter and
--   n  an attempt was made (or existed, of this very check): its local number (4), the local
--      number of the page that it will replace (4), 0 if there is none; 1 if that page is kept so far
--      (1); the override of the URL: keep, drop or ''
--   a  the URL is known with this text: local number (4), answer of stored_pages.lua without the URL; if
--      this very check made the page take another's place, the global number of that page (4). A
--      copy's original is in another shard: the caller checks whether it still exists
--   b  another check of the URL is under way: milliseconds that it may still take (4)

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()
local refused = out_of_numbers(#ARGV)
if refused then return refused end
local clock = milliseconds()
local overridden = redis.call('EXISTS', OVERRIDES) == 1 -- whether there are overrides

local UNCHANGED = {last = '='}

local function begun(id, meta, override)
  local is_kept = meta and not meta.rep
  return struct.pack('>c1I4I4B', 'n', id, meta and meta.id or 0, is_kept and 1 or 0) .. override
end

-- Takes back the count of this check as unchanged. If another check has written the record since, only the
-- number of the lost original shows that this one was counted.
local function uncount(meta, page, gone)
  local is_own = meta and meta.token == page.token
  if is_own and not IS_AGAIN[meta.last] or not is_own and gone == 0 then return end
  count(page, is_own and meta or UNCHANGED, nil, -1)
  if not is_own then return end
  meta.last = meta.standing
  rewrite_record(meta)
end

local function begin(item)
  local born, gone = struct.unpack('>c8I4', item)
  local packed = string.sub(item, 13)
  local page = read_page(packed)
  note_seen(page)
  local override = overridden and redis.call('HGET', OVERRIDES, page.url) or ''
  local anew = override == AGAIN
  if anew then override = '' end
  local attempt = attempt_at(page.url_key)
  if attempt then
    local is_own = attempt.page.token == page.token and attempt.page.url == page.url
    if is_own and attempt.born == born then
      return begun(attempt.id, attempt.replaces > 0 and read_record(attempt.replaces, 0), override)
    end
    -- A check that is replayed gets another number: claims are stored under that of their first page, so its
    -- own would overwrite earlier ones, and what these say of other pages.
    if not is_own and not is_over(attempt, clock) then
      return struct.pack('>c1I4', 'b', attempt.deadline - clock)
    end
    end_attempt(attempt)
  end
  local meta = find_url(page.url, page.url_key)
  if meta and meta.last_seen < oldest then
    bury(meta)
    meta = nil
  end
  local same_text = meta and has_same_text(page, meta, odd_size)
  local wanted = same_text and not anew and override ~= (meta.rep and 'keep' or 'drop')
    and not (meta.rep and (meta.rep == gone or page.preferred))
    and (meta.rep or is_settled(page, meta, odd_size))
  if same_text and (wanted or meta.token == page.token and not (meta.rep and meta.rep == gone)) then
    if gone > 0 and meta.token ~= page.token then count(page, UNCHANGED, nil, -1) end -- counted before
    touch(meta, page)
    local took = not IS_AGAIN[meta.last] and (meta.replaces or 0) > 0
    return struct.pack('>c1I4', 'a', meta.id) .. pack_answer(meta, took and REPLACES)
      .. (took and struct.pack('>I4', meta.replaces) or '')
  end
  uncount(meta, page, gone)
  local is_renewed = same_text and not meta.rep and not is_contested(meta) and not is_settled(page, meta, odd_size)
  if same_text and has_other_heading(page, meta) then same_text = false end
  local id = new_number(bytes_of(page, odd_size))
  redis.call('HSET', ATTEMPTS, string.format('%d', id), struct.pack(ATTEMPT, clock + lease, born,
    meta and meta.id or 0, (same_text and SAME_TEXT or 0) + (anew and ANEW or 0)
    + (is_renewed and RENEWED or 0),
    meta and meta.first_seen or page.seen) .. packed,
    url_field(page.url_key), string.format('%d', id))
  return begun(id, meta, override)
end

return saving(each, begin)
