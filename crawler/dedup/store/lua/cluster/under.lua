-- Reads which pages are under keys of this shard; changes nothing.
--
-- ARGV  see shard.lua; for each asking page: keys as in claim.lua
--
-- Returns for each the global numbers of the pages there, 4 bytes each, once for each key.

load_state()

return each(function(item)
  local found = {}
  for at = 1, #item, KEY do
    local group = group_of(item, at)
    for _, id in ipairs(find(group, group, string.sub(item, at + 1, at + KEY - 1)) or {}) do
      found[#found + 1] = pack('>I4', id)
    end
  end
  return table.concat(found)
end)
