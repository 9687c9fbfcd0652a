-- Reads the record of one URL; changes nothing.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  the URL
-- ARGV[2]  its 4-byte table key
--
-- Returns {full answer of stored_pages.lua, URL as fetched, first seen, last seen (seconds since 1970), number of
-- words, since when the page is gone, 0 if it is not, exact hash}, or nothing for a URL never seen.

load_state()
local meta = find_url(ARGV[1], ARGV[2])
if not meta then return false end
return {full_answer(meta), shown_url(meta), meta.first_seen, meta.last_seen, meta.words, meta.gone or 0,
  meta.exact}
