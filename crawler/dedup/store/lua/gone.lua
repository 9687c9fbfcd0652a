-- Notes that URLs are gone from the web. The page of one stands for its copies until one of them
-- comes again, or a new one, and takes its place.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  since when they are gone, in seconds since 1970
-- then one argument for each URL: its table key (4 bytes), the URL
--
-- Returns for each URL 1, or 0 if it was never seen.

load_state()
local replies = {}
for i = 2, #ARGV do
  replies[i - 1] = note_gone(string.sub(ARGV[i], 5), string.sub(ARGV[i], 1, 4), tonumber(ARGV[1]))
end
return replies
