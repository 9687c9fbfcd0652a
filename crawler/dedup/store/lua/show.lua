-- Reads what the index knows of one URL; changes nothing.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  the URL
-- ARGV[2]  its 4-byte table key
--
-- Returns {standing, last, first seen, last seen, words, number of the kept page that stands for
-- it, that page's URL ('' where it is the page itself or no longer kept), odd bits, sampled
-- shingles of the page, of the other, their level}, or nothing for a URL never seen.

load_state()
local id = find_url(ARGV[1], ARGV[2])
local meta = id and read_meta(id)
if not meta then return false end
return {meta.standing, meta.last, meta.first_seen, meta.last_seen, meta.words, meta.rep or id,
  meta.rep and read_url(meta.rep) or '', meta.odd_bits or 0, meta.sampled, meta.rep_sampled or 0,
  meta.level}
