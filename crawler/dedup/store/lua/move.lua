-- Makes claims of this shard entries of its tables, or takes both out.
--
-- ARGV  see attempts.lua; for each page: kept (1 byte): 1 makes those claims entries that are
--       there, 0 takes claims and entries out; global number (4), keys as in claim.lua
--
-- Returns 1 for each page. The same again changes nothing.

write_if_full()
redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()
local TABLES = {e = EXACT, b = {'band'}}

local function has(ids, id)
  for _, other in ipairs(ids or NONE) do
    if other == id then return true end
  end
  return false
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
    local ids, where, tag, bucket = find(group, group, string.sub(field, 2))
    local there = has(ids, id)
    if kept == 1 and claimed and not there then
      -- A full place loses its oldest entry: that is counted no more.
      if ids and #ids >= MAX_PAGES then state[group .. '.n'] = state[group .. '.n'] - 1 end
      add(id, ids, where, tag, bucket)
      grow(group, tables)
    elseif kept == 0 and there then
      remove(id, ids, where, tag, bucket)
      state[group .. '.n'] = state[group .. '.n'] - 1
    end
  end
  return 1
end

local replies = each(move)
save_state()
return replies
