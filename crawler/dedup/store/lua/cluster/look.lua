-- Reads pages of this shard for pages that might be their copies.
--
-- ARGV  see shard.lua; for each page: local number (4 bytes), give up (1): 1 ends the page's
--       attempt, or the attempt that is about to replace it. An attempt whose time has run out is ended
--       in any case
--
-- Returns for each page a letter: g (gone), c (a copy, or expired), k (kept) or p (pending: being
-- checked). For c follows the URL as fetched. For k and p follow: local number of the attempt that is
-- about to replace the page (4), 0 if there is none; born (8) of this attempt, or of the pending page; words
-- (4), exact hash (12), level (1) and sampled shingles (2) of its odd sketch; table key of the URL that
-- a kept page gives its place to (4); flags (1): 1 it is gone from the web, 2 an override keeps it; when
-- it was last seen (4); own content (4, as in records.lua); bytes of its rank (1), of its URL (2) and of
-- its URL as fetched (2), 0 if it is the same; rank, both URLs, band keys, odd sketch.

local SEEN = '>c1I4c8I4c12BI2c4BI4c4BI2I2'
local NOW = 2 ^ 32 - 1 -- a page that is being checked is seen now
local NEVER = string.rep('\0', 8)
local clock = milliseconds()
local overridden = redis.call('EXISTS', OVERRIDES) == 1 -- whether there are overrides

-- The attempt, nil if it is over or is ended now.
local function alive(attempt, give_up)
  if attempt and (give_up == 1 or is_over(attempt, clock)) then
    end_attempt(attempt)
    return nil
  end
  return attempt
end

local function look(item)
  local id, give_up = struct.unpack('>I4B', item)
  local meta = read_record(id, 0)
  if meta and (meta.rep or meta.last_seen < oldest) then return 'c' .. shown_url(meta) end
  if meta then
    local other = attempt_at(meta.url_key)
    other = other and other.replaces == id and alive(other, give_up) or nil
    local is_wanted = overridden and redis.call('HGET', OVERRIDES, meta.url) == 'keep'
    local fetched = meta.fetched and shown_url(meta) or ''
    return struct.pack(SEEN, 'k', other and other.id or 0, other and other.born or NEVER,
      meta.words, meta.exact, meta.level, meta.sampled, meta.canonical or NO_KEY,
      (is_gone(meta) and 1 or 0) + (is_wanted and 2 or 0), meta.last_seen, meta.own, #meta.rank, #meta.url,
      #fetched) .. meta.rank .. meta.url .. fetched .. meta.sketch
  end
  local attempt = alive(read_attempt(id), give_up)
  if not attempt then return 'g' end
  local page, level, sampled = attempt.page, 0, 0
  if #page.bands > 0 then level, sampled = struct.unpack('>BI2', page.odd) end
  return struct.pack(SEEN, 'p', 0, attempt.born, page.words, page.exact, level, sampled, NO_KEY,
    0, NOW, page.own, 0, #page.url, 0) .. page.url .. page.bands .. string.sub(page.odd, 4)
end

return each(look)
