-- Gives an index of an earlier format, whose records are valid in this one, the parameters of this format:
-- who has opened it with an earlier version is refused from now on.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  the format that it has
-- ARGV     from the second on names and values of the parameters
--
-- Returns names and values of the parameters that the index has then; they are as they were if it has another
-- format by now, or is not whole.

local format, unfinished = unpack(redis.call('HMGET', KEYS[1], 'format', 'unfinished'))
if format == ARGV[1] and not unfinished then redis.call('HSET', KEYS[1], unpack(ARGV, 2)) end
return redis.call('HGETALL', KEYS[1])
