-- Shared by the scripts that decide about pages: the format of a page in their arguments, and the
-- counts of verdicts. This text is put behind stored_pages.lua.
--
-- A page is one argument, numbers with the highest byte first:
--   table key of the URL (4 bytes)
--   token (4): new for each check; the same token again is a retry of the same check, which gets
--     the same answer and is not counted twice, except as repeated. Within a crawl its first two bytes
--     are the crawl's number
--   number of words (4); exact hash of the normalised text (12)
--   when the page was seen (4), 0 for now: a check that got no answer is repeated later; table key of
--     the page's canonical URL (4); flags (1): 1 the page takes the place of its original, 2 it gives
--     its own place to its canonical URL, 4 its text may have been cut before the check, 8 it has
--     anchors, 16 it was fetched under another spelling of its URL
--   when the crawl began (4), 0 if the check belongs to no crawl or to one that could not be announced; the
--     page's own content (4), see records.lua
--   number of known entries of the log of its host's template (2), 65535 if no entries are wanted; bytes
--     of the numbers of crawls that have not ended (2), bytes of pairs for this log (2)
--   bytes of the URL (2), of the host (2), of the band keys (2), of the canonical URL (2), of the
--     hosts whose unconfirmed records give way to the page (2), of the rank (1)
--   URL, host, band keys (4 each), canonical URL, empty if it is the page's URL, pairs (4 each), the
--     hosts, each between two spaces, rank: of two copies, the page with the smaller rank, byte by
--     byte, is kept; an empty rank is the largest; numbers of crawls that have not ended (2 each)
--   of a page with anchors: bytes of the anchors that the index stores (2), bytes of the table keys of
--     the other anchors (2); the stored anchors, as in records.lua; the table keys of the others (4 each)
--   of a page with another spelling: its bytes (2), the spelling as in records.lua
--   an odd sketch for each level that a duplicate could have, the page's own level first: level (1),
--     sampled shingles (2), the sketch; like the band keys, none for a text too short for a shingle

local MAX_HOST_COUNTS = 100000 -- from this number on, new hosts are counted together
local CUT, ANCHORED, SPELLED = 4, 8, 16 -- flags of a page
local NO_TEMPLATE = 65535 -- in place of the number of known entries: no entries are wanted
local KINDS = {u = 'unique', e = 'exact', n = 'near', s = 'short', ['='] = 'unchanged',
  ['!'] = 'updated', r = 'repeated'}
local counts = {stats = {}, hosts = {}, histogram = {}} -- written once for all pages

-- Unpacks a page that is to be checked. Its table has at most 16 fields, the override included: a
-- larger table takes 1,280 bytes, which glibc allocates far more slowly, and a table that grows is
-- allocated several times. The time `seen` is never before the crawl began nor, unless the page comes
-- late, before the state's clock, so no computer's clock has to be right.
local function read_page(packed)
  local url_key, token, words, exact, seen, canonical, flags, crawl, own, template_length, unended_size,
    pairs_size, url_size, host_size, bands_size, canonical_size, final_size, rank_size, at =
    struct.unpack('>c4c4I4c12I4c4BI4c4I2I2I2I2I2I2I2I2B', packed)
  local now, clock = tonumber(ARGV[2]), state and state.clock or 0
  local function take(size)
    at = at + size
    return string.sub(packed, at - size, at - 1)
  end
  local url, host, bands, canonical_url, pairs, final =
    take(url_size), take(host_size), take(bands_size), take(canonical_size), take(pairs_size), take(final_size)
  local rank, unended, preferred = take(rank_size), take(unended_size), flags % 2 == 1
  local anchors, other_keys
  if flags % SPELLED >= ANCHORED then
    local anchors_size, keys_size
    anchors_size, keys_size, at = unpack_at('>I2I2', packed, at)
    anchors, other_keys = take(anchors_size), take(keys_size)
  end
  local fetched
  if flags >= SPELLED then
    fetched, at = unpack_at('>I2', packed, at)
    fetched = take(fetched)
  end
  seen = seen > 0 and math.min(seen, now) or math.max(now, clock)
  local more = NONE -- fields that few pages have
  if canonical_url ~= '' or final ~= '' or template_length ~= NO_TEMPLATE or unended ~= '' or flags >= CUT then
    more = {named = canonical_url ~= '' and canonical_url, named_key = canonical, final = final ~= '' and final,
      template = template_length ~= NO_TEMPLATE and template_length, pairs = pairs,
      unended = unended, is_cut = flags % ANCHORED >= CUT, anchors = anchors,
      other_keys = other_keys, fetched = fetched}
  end
  return {url_key = url_key, token = token, words = words, exact = exact, rank = preferred and CHOSEN or rank,
    seen = math.max(seen, crawl), preferred = preferred, yields_to = flags % CUT >= 2 and canonical,
    more = more,
    url = url, host = host, bands = bands, odd = string.sub(packed, at), override = false, crawl = crawl,
    own = own}
end

-- The bytes that the record of a page takes beyond MORE_BYTES; odd_size is the bytes of an odd sketch.
local function bytes_of(page, odd_size)
  local fetched = page.more.fetched
  return #page.url + (fetched and 2 + #fetched or 0) + #page.bands + odd_size + #page.rank
    + #(page.more.anchors or '')
end

-- The table keys of all anchors of a page, 4 bytes each.
local function anchor_keys(page)
  local keys = {}
  each_anchor(page.more.anchors, function(key) keys[#keys + 1] = key end)
  return table.concat(keys) .. page.more.other_keys
end

-- Advances the state's clock to the time when a page was seen, so that a later crawl begins later by any
-- computer's clock. Notes the time of this check.
local function note_seen(page)
  state.checked = math.max(state.checked, tonumber(ARGV[2]))
  if page.seen > state.clock then state.clock = page.seen end
end

-- The time since when a page that is now checked is gone, nil if it is not gone: a page may be found gone
-- between a visit and a late check.
local function still_gone(page, meta)
  local is_late = page.seen < math.max(tonumber(ARGV[2]), state.clock)
  return is_late and is_gone(meta) and meta.gone >= page.seen and meta.gone or nil
end

-- The rule for stale records. The record of a page that was last seen before a crawl began is
-- unconfirmed: the page may have another text by now. Such a record
-- * takes no place from a kept page: the kept page stays kept with its new text, and the record is
--   contested: its page is decided anew when it is next checked;
-- * can be the original of copies, whose verdicts say that it is unconfirmed, so that the crawl can check
--   the copies again: then the record gives way if the crawl visits its host and has not seen its page.

local function is_unconfirmed(meta, page)
  return meta.last_seen < page.crawl
end

-- Whether the kept page of a record leaves its text to a similar page; is_kept: the similar page is
-- kept so far.
local function gives_way(meta, page, is_kept)
  return is_unconfirmed(meta, page) and page.override ~= 'drop' and (is_kept
    or page.more.final and find_in(page.more.final, ' ' .. host_of(meta.url) .. ' ', 1, true) ~= nil)
end

local function is_contested(meta)
  return string.sub(meta.token, 3) == CONTESTED
end

-- Has a page decided anew when it comes again, whatever its text. Its crawl stays known, which may not have ended.
local function contest(meta)
  meta.token = string.sub(meta.token, 1, 2) .. CONTESTED
  rewrite_record(meta)
end

-- Whether the record of a kept page needs no change for a check with the same text: it is not contested,
-- its heading is the same, and its sketch is the same or was made when more of the site's template was
-- known; odd_size is the bytes of an odd sketch.
local function is_settled(page, meta, odd_size)
  return not is_contested(meta) and not has_other_heading(page, meta)
    and (meta.sketch == page.bands .. string.sub(page.odd, 4, 3 + odd_size)
      or not knows_more(page.own, meta.own))
end

-- Whether a page's text is the same as at the last check. The exact hash is of the text before the site's
-- template was cut; of a page from a feed only the rest is known, so the sketches are compared.
local function has_same_text(page, meta, odd_size)
  return meta.exact == page.exact or page.more.is_cut and #page.bands > 0
    and meta.sketch == page.bands .. string.sub(page.odd, 4, 3 + odd_size)
end

-- Whether the page's crawl has checked the page before.
local function is_repeated(page, meta)
  return page.crawl > 0 and meta.last_seen >= page.crawl
    and string.sub(meta.token, 1, 2) == string.sub(page.token, 1, 2)
end

-- Whether a page was last kept by a crawl that has not ended, so that its item may never have been exported.
local function is_doubtful(page, known)
  if known.rep or page.crawl == 0 then return false end
  local number, unended = string.sub(known.token, 1, 2), page.more.unended or ''
  if number == '\255\254' then return true end -- of crawls that could not be announced
  local at = string.find(unended, number, 1, true)
  while at and at % 2 == 0 do at = string.find(unended, number, at + 1, true) end
  return at ~= nil
end

-- The verdict for a page whose text is the same as at the last check, and the token of its record. If another
-- crawl has seen it since this one began, that one's number stays: it has the page, and may not end.
local function as_before(page, known)
  if is_repeated(page, known) then return 'r', page.token end
  if is_doubtful(page, known) then return '!', page.token end
  local is_of_other = page.crawl > 0 and known.last_seen >= page.crawl
  return '=', is_of_other and string.sub(known.token, 1, 2) .. string.sub(page.token, 3) or page.token
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

-- Notes the spelling under which a page was fetched. Within a crawl the first one stays, because the item of
-- a repeated page is dropped.
local function note_fetched(meta, page, known)
  local fetched = page.more.fetched
  if meta.last == 'r' then fetched = known.fetched end
  if fetched or meta.fetched then meta.fetched = fetched end
end

-- Notes that a page was checked again with the same text: the standing verdict stays. A kept page's record stays
-- that of the check that passed it on in this crawl: if its answer is lost, a retry must not find it repeated,
-- because the other checks did so, and no item would be left.
local function touch(meta, page)
  local last, token = as_before(page, meta)
  if meta.token == token then return end
  local passed = last == 'r' and not meta.rep and not is_contested(meta) and meta.last
  meta.last, meta.last_seen = last, later(page.seen, meta)
  if not passed then meta.token = token end
  meta.gone = still_gone(page, meta)
  note_fetched(meta, page, meta)
  if not meta.rep then
    if meta.rank ~= CHOSEN then meta.rank = page.rank end
    meta.canonical = page.yields_to or nil
    if knows_more(page.own, meta.own) then meta.own = page.own end
  end
  meta.last = passed or last
  rewrite_record(meta)
  meta.last = last
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

-- Templates of hosts. The hash "templates" has for each host the time of the last check of one of its
-- pages, in seconds since 1970 (4 bytes, at most an hour behind), and a log of pairs of blocks of the
-- host's template (crawler/chrome/template/template.py), 4 bytes each. The log only grows, up to MAX_PAIRS.

local TEMPLATES = PREFIX .. 'templates'
local MAX_PAIRS = 512
local MAX_HOSTS = 10000 -- at this number, a new host takes the place of a host not seen for long
local DRAWN = '8' -- hosts drawn at random; the one seen longest ago is forgotten
local HOUR = 3600

local function has_pair(log, pair)
  local at = string.find(log, pair, 1, true)
  while at and at % 4 ~= 1 do at = string.find(log, pair, at + 1, true) end
  return at ~= nil
end

-- The time and the log in a host's value of the hash "templates"; 0 and an empty log if there is no value.
local function read_template(packed)
  if not packed or #packed < 4 then return 0, '' end
  return unpack_at('>I4', packed), string.sub(packed, 5)
end

local function forget_old_host()
  local drawn = redis.call('HRANDFIELD', TEMPLATES, DRAWN, 'WITHVALUES')
  local oldest, least = nil, math.huge
  for i = 1, #drawn, 2 do
    local seen = read_template(drawn[i + 1])
    if seen < least then oldest, least = drawn[i], seen end
  end
  redis.call('HDEL', TEMPLATES, oldest)
end

-- Adds pairs to a host's log. Returns the new entries for a caller that knows the first `length`: number
-- of the first (2 bytes), the pairs; false if there are none.
local function share_template(host, length, pairs)
  local now = tonumber(ARGV[2])
  local seen, old = read_template(redis.call('HGET', TEMPLATES, host))
  local log = old
  for at = 1, #pairs, 4 do
    local pair = string.sub(pairs, at, at + 3)
    if #log < MAX_PAIRS * 4 and not has_pair(log, pair) then log = log .. pair end
  end
  if #log > #old or log ~= '' and seen + HOUR < now then
    if old == '' and redis.call('HLEN', TEMPLATES) >= MAX_HOSTS then forget_old_host() end
    redis.call('HSET', TEMPLATES, host, pack('>I4', now) .. log)
  end
  if #log == length * 4 then return false end
  local from = #log > length * 4 and length or 0
  return struct.pack('>I2', from) .. string.sub(log, from * 4 + 1)
end
