-- Notes that the cleaning for a buried page, or for claims, is done.
--
-- ARGV  see shard.lua; for each: b, and the local number (4 bytes) of a buried page that is out of
--       all tables; or c, and the name (4 bytes) of claims whose pages are all decided and keep their
--       entries; if some do not, see drop.lua
--
-- Returns 1 for each, or 0 if that was noted before.

return each(function(item)
  local name = string.sub(item, 2)
  if string.sub(item, 1, 1) == 'c' then return redis.call('HDEL', CLAIMS, name) end
  return redis.call('HDEL', BURIED, format('%d', (unpack_at('>I4', name))))
end)
