-- Makes a new index, or tells the parameters of the one that is there.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV     names and values of the parameters asked for; none if no index is to be made
--
-- Returns names and values of the parameters that the index has; they are those asked for if it
-- is new, and none if there is no index.

if #ARGV > 0 and redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], unpack(ARGV)) end
return redis.call('HGETALL', KEYS[1])
