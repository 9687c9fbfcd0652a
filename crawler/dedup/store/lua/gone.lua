-- Notes that URLs are gone from the web. A gone page stands for its copies until one of them, or a new copy,
-- is checked and takes its place.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- then one argument for each URL: the time since which it is gone, in seconds since 1970 (4 bytes), its
-- table key (4), the URL
--
-- Returns for each URL 1, or 0 if it was never seen, or was seen later.

redis.call('HINCRBY', STATE, 'exchanges', '1') -- shows copies and exports that the index has changed
load_state()
local replies = {}
for i = 2, #ARGV do replies[#replies + 1] = note_gone(ARGV[i]) end
return replies
