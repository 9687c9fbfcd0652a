-- Gives a complete index its parameters, so that it can be opened.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV     names and values of the parameters
--
-- Returns nothing.

redis.call('HSET', KEYS[1], unpack(ARGV))
redis.call('HDEL', KEYS[1], 'unfinished')
