-- Notes that URLs are gone from the web. The page of one stands for its copies until one of them
-- comes again, or a new one, and takes its place.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV     for each URL: since when it is gone, in seconds since 1970 (4 bytes), its table key (4), the
--          URL
--
-- Returns for each URL 1, or 0 if it was never seen, or was seen later.

load_state()
local replies = {}
for i, item in ipairs(ARGV) do replies[i] = note_gone(item) end
return replies
