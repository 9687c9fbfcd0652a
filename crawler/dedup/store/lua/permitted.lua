-- Refuses users who may not run each of the COMMANDS that the script names, which scripts.py puts in front of
-- this text. A script ends at a command that is forbidden, and the server takes back nothing that the script
-- has written by then. Servers before Redis 7.0 cannot tell.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV     none: the script will write nothing

if #ARGV > 0 and redis.acl_check_cmd then
  for _, command in ipairs(COMMANDS) do
    if not redis.acl_check_cmd(command, KEYS[1]) then
      return redis.error_reply("NOPERM the user has no permissions to run the '" .. command .. "' command")
    end
  end
end

