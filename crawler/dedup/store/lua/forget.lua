-- Forgets one URL. Pages that were its copies are decided anew when they are seen again.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  the URL
-- ARGV[3]  its 4-byte table key
-- ARGV[4]  bits of an odd sketch
--
-- Returns 1, or 0 for a URL never seen.

load_state()
local meta = find_url(ARGV[2], ARGV[3])
if not meta then return 0 end
write_if_full()
saving(function() release(meta, tonumber(ARGV[4]) / 8) end)
return 1
