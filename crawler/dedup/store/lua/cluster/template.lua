-- Shares news about the templates of hosts that belong to this shard.
--
-- ARGV  see shard.lua; for each host: entries known of its log (2 bytes), bytes of the host (2),
--       host, pairs for the log (4 bytes each)
--
-- Returns for each host the news of its log, as from share_template in pages.lua, '' for none.

redis.call('HINCRBY', STATE, 'exchanges', '1')

return each(function(item)
  local length, size, at = struct.unpack('>I2I2', item)
  local host = string.sub(item, at, at + size - 1)
  return share_template(host, length, string.sub(item, at + size)) or ''
end)
