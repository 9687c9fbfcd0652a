-- Lets pages be found under their keys in this shard, and tells who was there before them.
--
-- ARGV  see attempts.lua; for each page: global number (4 bytes), then its keys: letter of the
--       table (e: exact, b: band), table key (4)
--
-- Returns for each page the keys under which somebody was: "<which, from 0>=<kept pages>|<those
-- that claimed it before>", semicolons between keys, commas between global numbers.

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()
local TABLES = {e = 'exact', b = 'band'}

local function claim(item)
  local id = string.format('%d', (struct.unpack('>I4', item)))
  local found = {}
  for at = 5, #item, 5 do
    local field = string.sub(item, at, at + 4)
    local name = TABLES[string.sub(field, 1, 1)]
    local kept = find(name, name, string.sub(field, 2))
    local others = redis.call('HGET', CLAIMS, field)
    if others then
      local before = string.match(',' .. others .. ',', '^(.-),' .. id .. ',')
      if before then
        others = string.sub(before, 2)
      else
        redis.call('HSET', CLAIMS, field, others .. ',' .. id)
      end
    else
      redis.call('HSET', CLAIMS, field, id)
    end
    if kept or others and others ~= '' then
      found[#found + 1] = string.format('%d=%s|%s', (at - 5) / 5,
        table.concat(kept or NONE, ','), others or '')
    end
  end
  return table.concat(found, ';')
end

return each(claim)
