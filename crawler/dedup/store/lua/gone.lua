-- Notes that a URL is gone from the web. Its page stands for its copies until one of them comes
-- again, or a new one, and takes its place.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  the URL
-- ARGV[2]  its 4-byte table key
-- ARGV[3]  since when it is gone, in seconds since 1970
--
-- Returns 1, or 0 for a URL never seen.

load_state()
return note_gone(ARGV[1], ARGV[2], tonumber(ARGV[3]))
