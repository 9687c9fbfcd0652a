-- Makes a new index, or returns the parameters of the existing index.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV     names and values of the parameters asked for; none if no index is to be made
--
-- Returns names and values of the parameters that the index has: the ARGV if the index is new, none if
-- there is no index. An error, NOPERM, if the user may not run a command that the other scripts need.

-- A script that fails for want of a permission keeps what it has written, so permissions are checked
-- before the first page. Servers before Redis 7.0 cannot check them.
if #ARGV > 0 and redis.acl_check_cmd then
  for command in string.gmatch('del exists get hdel hexists hget hgetall hincrby hkeys hlen hmget hset '
      .. 'hrandfield lindex lrange lset mget rpop rpush set setrange time xadd xread', '%a+') do
    if not redis.acl_check_cmd(command, KEYS[1]) then
      return redis.error_reply('NOPERM the scripts need ' .. command)
    end
  end
end

if #ARGV > 0 and redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], unpack(ARGV)) end
return redis.call('HGETALL', KEYS[1])
