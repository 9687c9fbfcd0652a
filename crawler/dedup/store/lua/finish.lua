-- Gives a complete index its parameters, so that it can be opened, unless it was cleared meanwhile.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  what was being done, as reserve.lua has it
-- ARGV     then names and values of the parameters
--
-- Returns the digest of the index that now has the name; nil for none.

if redis.call('HGET', KEYS[1], 'unfinished') == ARGV[1] then
  redis.call('HSET', KEYS[1], unpack(ARGV, 2))
  redis.call('HDEL', KEYS[1], 'unfinished')
end
return redis.call('HGET', KEYS[1], 'digest')
