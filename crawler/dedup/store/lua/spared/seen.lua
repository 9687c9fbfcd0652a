-- Shares pages that were seen among the processes of one crawl.
--
-- KEYS[1]  "{namespace}:params", in the head shard
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  number of the crawl
-- ARGV[3]  a name of the process
-- ARGV[4]  ID of the last entry that it knows, 0 for none
-- ARGV[5…] JSON of the pages that it shares
--
-- Returns the ID of the last entry before these pages, and JSON of the pages that other processes of the crawl
-- have shared since ARGV[4].
--
-- The stream "seen" has the latest of all crawls.

local SEEN = PREFIX .. 'seen'
local MOST = 10000
local AT_ONCE = 1000

local last, found = ARGV[4], {}
local answer = redis.call('XREAD', 'COUNT', AT_ONCE, 'STREAMS', SEEN, last)
for _, entry in ipairs(answer and answer[1] and answer[1][2] or {}) do
  last = entry[1]
  local fields = entry[2]
  if fields[2] == ARGV[2] and fields[4] ~= ARGV[3] then found[#found + 1] = fields[6] end
end
for i = 5, #ARGV do
  redis.call('XADD', SEEN, 'MAXLEN', '~', MOST, '*', 'crawl', ARGV[2], 'by', ARGV[3], 'page', ARGV[i])
end
return {last, found}
