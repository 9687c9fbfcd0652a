-- Lets pages be found under their keys in this shard, and tells who stands there.
--
-- ARGV  see shard.lua; any number of pages, of each: global number (4 bytes), how many keys (2),
--       keys: letter of the table (e: exact, b: band, a: anchor), table key (4)
--
-- Returns the keys under which others stand: "<which of all keys of the argument, from 0>=<pages
-- that are kept>|<those that are being checked, or were a moment ago>", semicolons between keys,
-- commas between global numbers. Of pages in one argument each finds those before it. What comes
-- twice finds those as well that came in between.

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

-- Of all keys of an argument: the page, the group, the name of the bucket, what stands there.
local function parse(item)
  local ids, groups, names, tags, at = {}, {}, {}, {}, 1
  while at <= #item do
    local id, count
    id, count, at = unpack_at('>I4I2', item, at)
    for n = #ids + 1, #ids + count do
      ids[n], groups[n] = id, group_of(item, at)
      names[n], tags[n] = locate(groups[n], groups[n], (unpack_at('>I4', item, at + 1)))
      at = at + KEY
    end
  end
  return ids, groups, names, tags
end

-- Who stands under a key but this page, nil if nobody does; whether the page does.
local function others_in(bucket, tag, id)
  local ids = pages_in(bucket, tag)
  for i, other in ipairs(ids or {}) do
    if other == id then
      table.remove(ids, i)
      return ids[1] and ids, true
    end
  end
  return ids, false
end

local function claim(item)
  local ids, groups, names, tags = parse(item)
  local buckets, found, added = {}, {}, {exact = 0, band = 0, anchor = 0}
  for i, bucket in ipairs(redis.call('MGET', unpack(names))) do buckets[names[i]] = bucket end
  for i, name in ipairs(names) do
    local bucket = buckets[name] or redis.call('GET', name) or ''
    local others, is_there = others_in(bucket, tags[i], ids[i])
    if others then found[#found + 1] = {i - 1, others} end
    if not is_there then -- however many are: whoever is being checked has to be found
      add(ids[i], nil, name, tags[i], bucket)
      added[groups[i]] = added[groups[i]] + 1
      buckets[name] = nil -- it is another now
    end
  end
  redis.call('HSET', CLAIMS, string.sub(item, 1, 4), item)
  for group, count in pairs(added) do -- only now, for it changes where keys stand
    for _ = 1, count do grow(group, {group}) end
  end
  if #found == 0 then return '' end
  local has_claims = under_way()
  for n, one in ipairs(found) do
    local kept, others = {}, {}
    for _, id in ipairs(one[2]) do
      local group = has_claims(id) and others or kept
      group[#group + 1] = format('%d', id)
    end
    found[n] = format('%d=', one[1]) .. table.concat(kept, ',') .. '|' .. table.concat(others, ',')
  end
  return table.concat(found, ';')
end

return saving(each, claim)
