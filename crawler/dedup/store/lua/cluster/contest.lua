-- Has kept pages of this shard decided anew when they come again, because another page is kept with the text
-- that they had before its crawl began: see the rule in pages.lua.
--
-- ARGV  see shard.lua; for each page: local number (4 bytes), exact hash (12), when the crawl began (4)
--
-- Returns for each page 1, or 0 if it is kept and was seen since then with this text: then it stands.

redis.call('HINCRBY', STATE, 'exchanges', '1')

return each(function(item)
  local id, exact, crawl = struct.unpack('>I4c12I4', item)
  local meta = read_record(id, 0)
  if not meta or meta.rep or meta.exact ~= exact then return 1 end
  if meta.last_seen >= crawl then return 0 end
  contest(meta)
  return 1
end)
