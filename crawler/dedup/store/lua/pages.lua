-- What the scripts that decide about pages share: how a page comes to them, and the counts of what
-- was decided. This text stands behind layout.lua.
--
-- A page is one argument, numbers with the highest byte first:
--   table key of the URL (4 bytes)
--   token (4): made anew for each check; the same token again is the same check tried again, and
--     gets the same answer without being counted twice
--   number of words (4); exact hash of the normalised text (16)
--   bytes of the URL (2), of the host (2), of the band keys (2); URL, host, band keys (4 each)
--   odd sketches of each level that a duplicate could have, the page's own first: level (1),
--     sampled shingles (2), the sketch; like the band keys, none for a text too short for a shingle

local MAX_HOST_COUNTS = 100000 -- beyond so many, new hosts are counted together
local KINDS = {u = 'unique', e = 'exact', n = 'near', s = 'short', ['='] = 'unchanged',
  ['!'] = 'updated'}
local counts = {stats = {}, hosts = {}, histogram = {}} -- written once for all pages

local function read_page(packed)
  local page = {}
  local url_size, host_size, bands_size, at
  page.url_key, page.token, page.words, page.exact, url_size, host_size, bands_size, at =
    struct.unpack('>c4c4I4c16I2I2I2', packed)
  page.url = string.sub(packed, at, at + url_size - 1)
  at = at + url_size
  page.host = string.sub(packed, at, at + host_size - 1)
  at = at + host_size
  page.bands = string.sub(packed, at, at + bands_size - 1)
  page.odd = string.sub(packed, at + bands_size)
  return page
end

local function count(page, meta, similarity, times)
  local kind = KINDS[meta.last]
  local host = page.host .. ' ' .. kind
  counts.stats[kind] = (counts.stats[kind] or 0) + (times or 1)
  counts.hosts[host] = (counts.hosts[host] or 0) + (times or 1)
  if meta.last == 'n' then
    local rounded = string.format('%.2f', math.floor(similarity * 100) / 100)
    counts.histogram[rounded] = (counts.histogram[rounded] or 0) + 1
  end
end

local function save_counts()
  if redis.call('HLEN', PREFIX .. 'hosts') > MAX_HOST_COUNTS then
    local bounded = {}
    for field, number in pairs(counts.hosts) do
      if redis.call('HEXISTS', PREFIX .. 'hosts', field) == 0 then
        field = '(other hosts) ' .. string.match(field, '%S+$')
      end
      bounded[field] = (bounded[field] or 0) + number
    end
    counts.hosts = bounded
  end
  for name, group in pairs(counts) do
    for field, number in pairs(group) do
      redis.call('HINCRBY', PREFIX .. name, field, string.format('%d', number))
    end
  end
end
