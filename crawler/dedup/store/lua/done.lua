-- Notes that buried pages of this shard are out of all tables.
--
-- ARGV  see attempts.lua; for each page: local number (4 bytes)
--
-- Returns for each page 1, or 0 if that was noted before.

return each(function(item)
  return redis.call('HDEL', BURIED, string.format('%d', (struct.unpack('>I4', item))))
end)
