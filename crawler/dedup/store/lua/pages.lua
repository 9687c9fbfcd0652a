-- What the scripts that decide about pages share: how a page comes to them, and the counts of what
-- was decided. This text stands behind records.lua.
--
-- A page is one argument, numbers with the highest byte first:
--   table key of the URL (4 bytes)
--   token (4): made anew for each check; the same token again is the same check tried again, and
--     gets the same answer without being counted twice. Within a crawl its first two bytes are the
--     crawl's number
--   number of words (4); exact hash of the normalised text (12)
--   when the page was seen (4), 0 if that was now: what got no answer is checked later; table key of the URL that the page
--     names as canonical (4); flags (1): 1 the page takes the place of the one that it copies, 2 it gives its
--     own place to the URL that it names as canonical, 4 its text may have been cut before it came, 8 it
--     has anchors
--   when the crawl began (4), 0 if the check is of none; since when pages that were seen before that are
--     doubtful (4), 0 if none are; what the page has of its own (4), see records.lua
--   entries known of the log of its host's template (2), 65535 if it is not asked for; bytes of
--     pairs for that log (2)
--   bytes of the URL (2), of the host (2), of the band keys (2), of the URL that it names as
--     canonical (2), of the hosts whose unconfirmed records give way to the page (2), of its rank (1): URL,
--     host, band keys (4 each), canonical URL, nothing where it is its own, pairs (4 each), the hosts,
--     each between two spaces, the rank: of two copies the one with the smaller rank, byte by byte, is
--     kept; nothing stands for the largest
--   of a page with anchors: bytes of those that the index keeps (2), and of the table keys of the others (2);
--     those, as in records.lua, and these, 4 bytes each
--   odd sketches of each level that a duplicate could have, the page's own first: level (1),
--     sampled shingles (2), the sketch; like the band keys, none for a text too short for a shingle

local MAX_HOST_COUNTS = 100000 -- beyond so many, new hosts are counted together
local CUT, ANCHORED = 4, 8 -- flags of a page
local NO_TEMPLATE = 65535 -- stands for the entries known of a log that is not asked for
local KINDS = {u = 'unique', e = 'exact', n = 'near', s = 'short', ['='] = 'unchanged',
  ['!'] = 'updated', r = 'repeated'}
local counts = {stats = {}, hosts = {}, histogram = {}} -- written once for all pages

-- What is known of a page that is to be checked. Its table has 16 fields, the override that somebody
-- has made of it included: a larger one takes 1,280 bytes, for which glibc looks far longer than for those
-- of small ones, and one that grows is made several times. Pages are never seen before their crawl
-- began, nor, unless they come late, before another page was: so no clock has to be right.
local function read_page(packed)
  local url_key, token, words, exact, seen, canonical, flags, crawl, doubtful, own, template_length, pairs_size,
    url_size, host_size, bands_size, canonical_size, final_size, rank_size, at =
    struct.unpack('>c4c4I4c12I4c4BI4I4c4I2I2I2I2I2I2I2B', packed)
  local now, clock = tonumber(ARGV[2]), state and state.clock or 0
  local function take(size)
    at = at + size
    return string.sub(packed, at - size, at - 1)
  end
  local url, host, bands, canonical_url, pairs, final =
    take(url_size), take(host_size), take(bands_size), take(canonical_size), take(pairs_size), take(final_size)
  local rank, preferred = take(rank_size), flags % 2 == 1
  local anchors, other_keys
  if flags >= ANCHORED then
    local anchors_size, keys_size
    anchors_size, keys_size, at = unpack_at('>I2I2', packed, at)
    anchors, other_keys = take(anchors_size), take(keys_size)
  end
  seen = seen > 0 and math.min(seen, now) or math.max(now, clock)
  local more = NONE -- what few pages have
  if canonical_url ~= '' or final ~= '' or template_length ~= NO_TEMPLATE or doubtful > 0 or flags >= CUT then
    more = {named = canonical_url ~= '' and canonical_url, named_key = canonical, final = final ~= '' and final,
      template = template_length ~= NO_TEMPLATE and template_length, pairs = pairs,
      doubtful = doubtful > 0 and doubtful, is_cut = flags % ANCHORED >= CUT, anchors = anchors,
      other_keys = other_keys}
  end
  return {url_key = url_key, token = token, words = words, exact = exact, rank = preferred and CHOSEN or rank,
    seen = math.max(seen, crawl), preferred = preferred, yields_to = flags % CUT >= 2 and canonical,
    more = more,
    url = url, host = host, bands = bands, odd = string.sub(packed, at), wish = false, crawl = crawl,
    own = own}
end

-- The table keys of all anchors of a page, 4 bytes each.
local function anchor_keys(page)
  local keys = {}
  each_anchor(page.more.anchors, function(key) keys[#keys + 1] = key end)
  return table.concat(keys) .. page.more.other_keys
end

-- Notes when a page was seen, so that a crawl that begins later begins later by any clock, and that it is
-- checked now.
local function note_seen(page)
  state.checked = math.max(state.checked, tonumber(ARGV[2]))
  if page.seen > state.clock then state.clock = page.seen end
end

-- Since when a page is gone that has been seen, nil if it is not: it may have been found gone between
-- a visit and its check, which came late.
local function still_gone(page, meta)
  local is_late = page.seen < math.max(tonumber(ARGV[2]), state.clock)
  return is_late and is_gone(meta) and meta.gone >= page.seen and meta.gone or nil
end

-- The rule for stale records. What an index knows of a page that was last seen before a crawl began is not
-- confirmed: another text may stand there by now. Such a record
-- * takes no place from a page that is kept under its own URL: that stays kept, with the text that it has
--   now, and the record is contested: decided anew when its page comes;
-- * stands for other pages, whose verdicts say that it is not confirmed, so that their crawl can ask for
--   them again: then it gives way if the crawl visits its host and has not met its page.

local function is_unconfirmed(meta, page)
  return meta.last_seen < page.crawl
end

-- Whether a kept page leaves its text to a page that is like it; is_kept: that is kept itself so far.
local function gives_way(meta, page, is_kept)
  return is_unconfirmed(meta, page) and page.wish ~= 'drop' and (is_kept
    or page.more.final and find_in(page.more.final, ' ' .. host_of(meta.url) .. ' ', 1, true) ~= nil)
end

-- Whether what is stored of a kept page is what is known now of a page with the same text: nobody contests it,
-- its heading is the same, and so is its sketch, unless that was made when more was known of its site's
-- template; odd_size is the bytes of an odd sketch.
local function is_settled(page, meta, odd_size)
  return meta.token ~= CONTESTED and not has_other_heading(page, meta)
    and (meta.sketch == page.bands .. string.sub(page.odd, 4, 3 + odd_size)
      or not knows_more(page.own, meta.own))
end

-- Whether a page comes with the text that it had. The exact hash is that of the text before its site's template
-- was cut; of a page that comes from a feed only what was left is known, so its sketch tells.
local function has_same_text(page, meta, odd_size)
  return meta.exact == page.exact or page.more.is_cut and #page.bands > 0
    and meta.sketch == page.bands .. string.sub(page.odd, 4, 3 + odd_size)
end

-- Whether this crawl has checked a page before.
local function is_repeated(page, meta)
  return page.crawl > 0 and meta.last_seen >= page.crawl
    and string.sub(meta.token, 1, 2) == string.sub(page.token, 1, 2)
end

-- Whether a page was last kept by a crawl that was killed, and may not have been passed on.
local function is_doubtful(page, known)
  return page.more.doubtful and not known.rep and known.last_seen >= page.more.doubtful
end

-- The verdict of a page that has the text that it had when it was checked before.
local function as_before(page, known)
  if is_repeated(page, known) then return 'r' end
  return is_doubtful(page, known) and '!' or '='
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

-- Notes that a page came again with the text that it has: what was decided about it stands.
local function touch(meta, page)
  if meta.token == page.token then return end
  meta.last, meta.last_seen, meta.token = as_before(page, meta), later(page.seen, meta), page.token
  meta.gone = still_gone(page, meta)
  if not meta.rep then
    if meta.rank ~= CHOSEN then meta.rank = page.rank end
    meta.canonical = page.yields_to or nil
    if knows_more(page.own, meta.own) then meta.own = page.own end
  end
  rewrite_record(meta)
  count(page, meta)
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

savers[#savers + 1] = save_counts

-- Templates of hosts. The hash "templates" has for each host when a page of it was checked, in seconds
-- since 1970 (4 bytes, an hour behind at most), and a log of pairs of blocks that are its sites' own
-- (crawler/chrome/template/template.py), 4 bytes each. The log only grows, up to MAX_PAIRS.

local TEMPLATES = PREFIX .. 'templates'
local MAX_PAIRS = 512
local MAX_HOSTS = 10000 -- then one not met for long is forgotten; whoever meets it still tells again
local DRAWN = '8' -- hosts, of which that is the one met longest ago
local HOUR = 3600

local function has_pair(log, pair)
  local at = string.find(log, pair, 1, true)
  while at and at % 4 ~= 1 do at = string.find(log, pair, at + 1, true) end
  return at ~= nil
end

-- When a page of a host was checked, by what the hash has of it; and the log. 0 and none if that is
-- nothing.
local function read_template(packed)
  if not packed or #packed < 4 then return 0, '' end
  return unpack_at('>I4', packed), string.sub(packed, 5)
end

local function forget_old_host()
  local drawn = redis.call('HRANDFIELD', TEMPLATES, DRAWN, 'WITHVALUES')
  local oldest, least = nil, math.huge
  for i = 1, #drawn, 2 do
    local met = read_template(drawn[i + 1])
    if met < least then oldest, least = drawn[i], met end
  end
  redis.call('HDEL', TEMPLATES, oldest)
end

-- Adds pairs to a host's log. Returns what is new for who knows `length` entries: number of the
-- first (2 bytes), the pairs; false if nothing is.
local function share_template(host, length, pairs)
  local now = tonumber(ARGV[2])
  local met, old = read_template(redis.call('HGET', TEMPLATES, host))
  local log = old
  for at = 1, #pairs, 4 do
    local pair = string.sub(pairs, at, at + 3)
    if #log < MAX_PAIRS * 4 and not has_pair(log, pair) then log = log .. pair end
  end
  if #log > #old or log ~= '' and met + HOUR < now then
    if old == '' and redis.call('HLEN', TEMPLATES) >= MAX_HOSTS then forget_old_host() end
    redis.call('HSET', TEMPLATES, host, pack('>I4', now) .. log)
  end
  if #log == length * 4 then return false end
  local from = #log > length * 4 and length or 0
  return struct.pack('>I2', from) .. string.sub(log, from * 4 + 1)
end
