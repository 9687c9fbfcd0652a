-- Tells whether the originals of pages are still there; changes nothing.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  when the calling crawl began
-- then one argument for each page: its table key (4 bytes), its URL
--
-- Returns for each page a letter: c, the original was seen since, or the page is kept itself;
-- u, the original was not seen since, then the original's URL; l, the page has no record, or its original
-- is lost or gone.

load_state()

local function original_state(item)
  local meta = find_url(string.sub(item, 5), string.sub(item, 1, 4))
  if not meta then return 'l' end
  if not meta.rep then return 'c' end
  local original = original_of(meta, 0)
  if not original or is_gone(original) then return 'l' end
  return original.last_seen < tonumber(ARGV[2]) and 'u' .. original.url or 'c'
end

local replies = {}
for i = 3, #ARGV do replies[#replies + 1] = original_state(ARGV[i]) end
return replies
