-- Gives an index that is whole now its parameters: it can be opened.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV     names and values of the parameters
--
-- Returns nothing.

redis.call('HSET', KEYS[1], unpack(ARGV))
redis.call('HDEL', KEYS[1], 'unfinished')
