-- Takes pages out of the tables of this shard.
--
-- ARGV  see shard.lua; for each page: global number (4 bytes), keys as in claim.lua
--
-- Returns 1 for each page. The same again changes nothing.

write_if_full()
redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

return saving(each, function(item)
  local id = unpack_at('>I4', item)
  for at = 5, #item, KEY do
    local group = group_of(item, at)
    local ids, name, tag, bucket = find(group, group, string.sub(item, at + 1, at + KEY - 1))
    for _, other in ipairs(ids or {}) do
      if other == id then
        remove(id, ids, name, tag, bucket)
        state[group .. '.n'] = state[group .. '.n'] - 1
        break
      end
    end
  end
  return 1
end)
