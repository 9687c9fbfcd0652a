-- The similarity of a page to a kept page: by odd sketches, by simhashes, or by their common keys.
-- This text is put in front of check.lua; `bits` is the number of bits of an odd sketch or simhash.

local BY_KEYS = 255 -- in place of a level: the verdict rests on keys
local SIMHASH = 254 -- in place of a level: the sketch is a simhash, not an odd sketch
local CERTAIN = 16 -- this many keys are all small by design, not by chance
local FEWEST = 8 -- comparable keys that suffice where not all keys of a page are comparable

-- The number of bits in which two strings differ. Sums the four bytes of a 32-bit word in parallel, at
-- most 31 words before a byte could overflow.
local function differing_bits(a, b)
  local bxor, band, rshift = bit.bxor, bit.band, bit.rshift
  local total, lanes, words = 0, 0, 0
  for i = 1, #a, 4 do
    local x = bxor((struct.unpack('>I4', a, i)), (struct.unpack('>I4', b, i)))
    x = band(x, 0x55555555) + band(rshift(x, 1), 0x55555555)
    x = band(x, 0x33333333) + band(rshift(x, 2), 0x33333333)
    lanes = lanes + band(x, 0x0f0f0f0f) + band(rshift(x, 4), 0x0f0f0f0f)
    words = words + 1
    if words == 31 or i + 4 > #a then
      total = total + band(lanes, 255) + band(rshift(lanes, 8), 255)
        + band(rshift(lanes, 16), 255) + band(rshift(lanes, 24), 255)
      lanes, words = 0, 0
    end
  end
  return total
end

-- Resemblance of two sets whose simhashes differ in `differing` bits (Charikar 2002, section 3).
local function simhash_resemblance(differing, bits)
  local cosine = math.max(0, math.cos(math.pi * differing / bits))
  return cosine / (2 - cosine)
end

-- Resemblance of two sets of `a` and `b` members whose odd sketches differ in `odd` bits
-- (Mitzenmacher, Pagh, Pham 2014, section 3.1). It is at most the smaller size by the larger.
local function resemblance(odd, a, b, bits)
  if 2 * odd >= bits then return 0 end
  local difference = math.log(1 - 2 * odd / bits) / math.log(1 - 2 / bits)
  local similarity = (a + b - difference) / (a + b + difference)
  return math.max(0, math.min(similarity, math.min(a, b) / math.max(a, b)))
end

local function sketch_at(page, level, bits)
  local odd_size = bits / 8
  for at = 1, #page.odd, odd_size + 3 do
    if string.byte(page.odd, at) == level then
      return struct.unpack('>I2', page.odd, at + 1), string.sub(page.odd, at + 3, at + 2 + odd_size)
    end
  end
  return nil
end

-- The number of the page's keys that a candidate could share, nil if they are too few to judge by. A
-- candidate of very many shingles has only keys below 2^26, 2^25, … (see ModuloSample). Keys are sorted.
local function comparable_keys(page, meta, bits)
  local keys = string.sub(meta.sketch, 1, -bits / 8 - 1)
  local count, all = 0, #page.bands / 4
  if #keys < 4 * CERTAIN then return all end
  local _, exponent = math.frexp((struct.unpack('>I4', keys, #keys - 3)))
  for at = 1, #page.bands, 4 do
    if struct.unpack('>I4', page.bands, at) >= 2 ^ exponent then break end
    count = count + 1
  end
  return (count == all or count >= FEWEST) and count or nil
end

-- The similarity of a candidate that shares `hits` of the page's keys, nil if too few keys are comparable;
-- notes the evidence in `meta`.
local function similarity_by_keys(page, meta, bits, hits)
  local available = comparable_keys(page, meta, bits)
  if not available then return nil end
  meta.level, meta.odd_bits, meta.other_sampled = BY_KEYS, hits, available
  return hits / available
end

-- The similarity of a candidate by the sketches of the two; nil if the page has no sketch of the
-- candidate's level, or if the candidate's sketch is cut.
local function similarity_by_sketches(page, meta, bits)
  local sampled, sketch = sketch_at(page, meta.level, bits)
  if not sketch or #meta.sketch < bits / 8 then return nil end
  meta.odd_bits = differing_bits(sketch, string.sub(meta.sketch, -bits / 8))
  meta.other_sampled = sampled
  -- Sets of one size with different keys differ in at least two members, which may share a bit.
  if meta.odd_bits == 0 and meta.level == 0 and sampled == meta.sampled
    and string.sub(meta.sketch, 1, -bits / 8 - 1) ~= page.bands then
    meta.odd_bits = 2
  end
  if meta.level == SIMHASH then return simhash_resemblance(meta.odd_bits, bits) end
  return resemblance(meta.odd_bits, sampled, meta.sampled, bits)
end
