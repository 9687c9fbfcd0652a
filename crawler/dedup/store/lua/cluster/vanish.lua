-- Notes that URLs of this shard are gone from the web, as gone.lua does on one server.
--
-- ARGV  see shard.lua; for each URL: the time since which it is gone, in seconds since 1970 (4
--       bytes), its table key (4), the URL
--
-- Returns for each URL 1, or 0 if it was never seen, or was seen later.

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

return each(note_gone)
