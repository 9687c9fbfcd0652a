-- Notes that URLs of this shard are gone from the web, as gone.lua does on one server.
--
-- ARGV  see attempts.lua; for each URL: its table key (4 bytes), the URL
--
-- Returns for each URL 1, or 0 if it was never seen.

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

return each(function(item)
  return note_gone(string.sub(item, 5), string.sub(item, 1, 4), now)
end)
