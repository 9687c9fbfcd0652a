-- Claims keys of this shard for pages, so that these are found there, and returns the other pages there.
--
-- ARGV  see shard.lua; any number of pages, each as: global number (4 bytes), number of keys (2),
--       keys: letter of the table (e: exact, b: band, a: anchor), table key (4)
--
-- Returns the keys with other pages: "<index of the key in the argument, from 0>=<kept pages>|<pages
-- that are being checked, or were a moment ago>", semicolons between keys, commas between global
-- numbers. Each page of an argument also finds the pages before it. A repeated claim also finds the
-- pages that came in between.

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

-- For each key of an argument: the page, the group, the name of the bucket, the stored part of the key.
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

-- The other pages under a key, nil for none; and whether this page is there.
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
    if not is_there then -- also under crowded keys, because pages that are being checked must be found
      add(ids[i], nil, name, tags[i], bucket)
      added[groups[i]] = added[groups[i]] + 1
      buckets[name] = nil -- it has changed
    end
  end
  redis.call('HSET', CLAIMS, string.sub(item, 1, 4), item)
  for group, count in pairs(added) do -- only now, because it moves keys to other buckets
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
