-- Writes pages into an index, or into a shard of one, with the verdicts that they had in an earlier index.
--
-- KEYS[1]  "{namespace}:params"
-- KEYS[2]  "{namespace}:guard", which never exists: see keys.py
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  'all': kept pages are added to all tables; 'shard': only to the table of URLs, because their
--          other entries may belong to other shards
-- then one argument for each page, numbers with the highest byte first: number for the page
-- (4 bytes), 0 for the next free number; standing and last verdict (a letter each); first and last
-- seen (4 each); table key of the URL (4); words (4); exact hash (12); level (1); sampled (2);
-- number of the original (4), 0 if there is none; differing bits (2) and sampled shingles of the
-- original (2); gone (4), table key of the canonical URL (4), page replaced (4), own content (4); bytes of
-- the URL (2), of another spelling (2), 0 if there is none, of the anchors (2), of the band keys (2) and of the
-- rank (1); rank, URL, spelling, anchors and band keys as in records.lua, odd sketch
--
-- Returns for each page its number and 1; or, without a change, the number of the page that already has
-- this URL, and 0, or 2 if an earlier call has written it and no check has seen it since. This number is
-- 0 if that page has another text, because copies of the restored page are no copies of that text.
-- Counts only the stored pages and entries, no verdicts.

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()
local refused = out_of_numbers(#ARGV)
if refused then return refused end
local NO_TOKEN = string.rep('\0', 4)
local PAGE = '>I4c1c1I4I4c4I4c12BI2I4I2I2I4c4I4c4I2I2I2I2B'

local function list(meta, bands)
  if meta.words > 0 then
    add(meta.id, find('exact', 'exact', string.sub(meta.exact, 1, 4)))
    grow('exact', EXACT)
  end
  local keys = #bands / 4
  if keys == 0 then return end
  for i, name in ipairs(band_names(keys)) do
    add(meta.id, find('band', name, string.sub(bands, i * 4 - 3, i * 4)))
  end
  local tables = band_names(TABLES or keys)
  for _ = 1, rounds(keys) do grow('band', tables) end
  list_anchors(meta.id, meta.anchors)
end

local function restore(packed)
  local meta, url_size, fetched_size, anchors_size, bands_size, rank_size, at = {token = NO_TOKEN}, 0, 0, 0, 0, 0, 0
  meta.id, meta.standing, meta.last, meta.first_seen, meta.last_seen, meta.url_key, meta.words,
    meta.exact, meta.level, meta.sampled, meta.rep, meta.odd_bits, meta.rep_sampled, meta.gone,
    meta.canonical, meta.replaces, meta.own, url_size, fetched_size, anchors_size, bands_size, rank_size, at =
    struct.unpack(PAGE, packed)
  meta.rank = string.sub(packed, at, at + rank_size - 1)
  at = at + rank_size
  local url = string.sub(packed, at, at + url_size - 1)
  at = at + url_size
  if fetched_size > 0 then meta.fetched = string.sub(packed, at, at + fetched_size - 1) end
  at = at + fetched_size
  meta.url, meta.anchors = url, string.sub(packed, at, at + anchors_size - 1)
  meta.sketch = string.sub(packed, at + anchors_size)
  local bands = string.sub(meta.sketch, 1, bands_size)
  local known, ids, name, tag, bucket = find_url(url, meta.url_key)
  if known then
    local is_restored = known.token == NO_TOKEN and known.standing == meta.standing
      and known.exact == meta.exact and known.sketch == meta.sketch
    return {known.exact == meta.exact and known.id or 0, is_restored and 2 or 0}
  end
  if meta.id == 0 then
    meta.id = new_number(#url + fetched_size + 2 + #meta.sketch + rank_size + anchors_size)
  elseif meta.id >= state.next then
    take_number(meta.id)
  end
  if not IS_COPY[meta.standing] then meta.rep = nil end
  if meta.last_seen > state.clock then state.clock = meta.last_seen end
  if meta.last_seen > state.checked then state.checked = meta.last_seen end
  write_record(meta) -- first, because it fails where another program wrote under its key
  if not meta.rep then
    state.kept = state.kept + 1
    if ARGV[2] == 'all' then list(meta, bands) end
  end
  add(meta.id, ids, name, tag, bucket)
  grow('url', URLS)
  return {meta.id, 1}
end

local replies = {}
saving(function()
  for i = 3, #ARGV do replies[#replies + 1] = restore(ARGV[i]) end
end)
return replies
