-- Reads the records of pages of this shard; changes nothing.
--
-- ARGV  see shard.lua; for each page: local number (4 bytes)
--
-- Returns for each page its record, '' if there is none.

return each(function(item)
  local block, slot = record((unpack_at('>I4', item)))
  return redis.call('LINDEX', block, slot) or ''
end)
