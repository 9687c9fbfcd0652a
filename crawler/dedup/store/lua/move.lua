-- Makes claims of this shard entries of its tables, or takes both out.
--
-- ARGV  see attempts.lua; for each page: kept (1 byte): 1 makes those claims entries that are
--       there, 0 takes claims and entries out; global number (4), keys as in claim.lua
--
-- Returns 1 for each page. The same again changes nothing.

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()
local TABLES = {e = EXACT, b = {'band'}}

local function commas(text)
  return select(2, string.gsub(text, ',', ',')) + 1
end

local function unclaim(id, field)
  local others = redis.call('HGET', CLAIMS, field)
  if not others then return false end
  local rest = string.gsub(',' .. others .. ',', ',' .. id .. ',', ',', 1)
  if #rest == #others + 2 then return false end
  if rest == ',' then
    redis.call('HDEL', CLAIMS, field)
  else
    redis.call('HSET', CLAIMS, field, string.sub(rest, 2, -2))
  end
  return true
end

local function move(item)
  local kept, id = struct.unpack('>BI4', item)
  local name = string.format('%d', id)
  for at = 6, #item, 5 do
    local field = string.sub(item, at, at + 4)
    local tables = TABLES[string.sub(field, 1, 1)]
    local group = tables[1]
    local claimed = unclaim(name, field)
    local ids, hash, place = find(group, group, string.sub(field, 2))
    local there = ids and string.find(',' .. ids .. ',', ',' .. name .. ',', 1, true)
    if kept == 1 and claimed and not there then
      -- A full place loses its oldest entries: those are counted no more.
      state[group .. '.n'] = state[group .. '.n'] - (ids and commas(ids) or 0)
      add(id, ids, hash, place)
      state[group .. '.n'] = state[group .. '.n'] + commas(redis.call('HGET', hash, place)) - 1
      grow(group, tables)
    elseif kept == 0 and there then
      remove(id, ids, hash, place)
      state[group .. '.n'] = state[group .. '.n'] - 1
    end
  end
  return 1
end

local replies = each(move)
save_state()
return replies
