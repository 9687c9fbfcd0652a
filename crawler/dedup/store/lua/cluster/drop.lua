-- Removes pages from the tables of this shard, and forgets claims whose pages are all decided. Both are
-- one step: a late claim is forgotten together with its entries, or stored again together with them.
--
-- ARGV  see shard.lua; for each: name of the claims (4 bytes), zeros for none; pages and keys as in
--       claim.lua
--
-- Returns 1 for each. A repeated call changes nothing.

write_if_full()
redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

local function drop(item)
  redis.call('HDEL', CLAIMS, string.sub(item, 1, 4))
  local at = 5
  while at <= #item do
    local id, count
    id, count, at = unpack_at('>I4I2', item, at)
    for _ = 1, count do
      local group = group_of(item, at)
      local ids, name, tag, bucket = find(group, group, string.sub(item, at + 1, at + KEY - 1))
      for _, other in ipairs(ids or {}) do
        if other == id then
          remove(id, ids, name, tag, bucket)
          state[group .. '.n'] = state[group .. '.n'] - 1
          break
        end
      end
      at = at + KEY
    end
  end
  return 1
end

return saving(each, drop)
