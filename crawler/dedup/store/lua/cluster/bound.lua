-- Thins out crowded keys in the tables of this shard: the latest kept pages stay, and all pages that are
-- being checked.
--
-- ARGV  see shard.lua; for each key: letter of the table, table key (4 bytes), as in claim.lua
--
-- Returns 1 for each key. A repeated call changes nothing.

write_if_full()
redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

return saving(each, function(item)
  local group, key, has_claims, kept = group_of(item, 1), string.sub(item, 2), under_way(), {}
  for _, id in ipairs(find(group, group, key) or {}) do
    if not has_claims(id) then kept[#kept + 1] = id end
  end
  table.sort(kept)
  for i = 1, #kept - MAX_PAGES do
    remove(kept[i], find(group, group, key))
    state[group .. '.n'] = state[group .. '.n'] - 1
  end
  local _, name, tag, bucket = find(group, group, key)
  if #kept > MAX_PAGES and not before(tag .. pack('>I4', MORE), bucket) then
    add(MORE, nil, name, tag, bucket)
  end
  return 1
end)
