-- Makes a new index, or returns the parameters of the existing index.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV     names and values of the parameters asked for; none if no index is to be made
--
-- Returns names and values of the parameters that the index has: the ARGV if the index is new, none if
-- there is no index. An error, NOPERM, if parameters are asked for and the user may not run a command that
-- other scripts need, or may not read and write all of the KEY_NAMES, which scripts.py puts in front.

local function may_use_keys()
  local keys = {}
  for i, name in ipairs(KEY_NAMES) do keys[i] = string.sub(KEYS[1], 1, -7) .. name end
  return redis.acl_check_cmd('EXISTS', unpack(keys)) and redis.acl_check_cmd('DEL', unpack(keys))
end

if #ARGV > 0 and redis.acl_check_cmd and not may_use_keys() then
  return redis.error_reply('NOPERM the user has no permissions to access all keys of the index')
end

if #ARGV > 0 and redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], unpack(ARGV)) end
return redis.call('HGETALL', KEYS[1])
