#include "store/redis_scripts.h"

namespace hookonce::redis_lua {

// Arguments: the marker of an inbox that is not whole, the mark, how many records; per record: source, id, time of
// acceptance, the end of its window, body hash, keys that it holds, other keys, whether its content is here; of one
// with content also `s` without seq and time, headers, body, `d`, how many other fields and values, and these.
const std::string_view kCopy = R"lua(
local NOT_THERE = -1  -- the state of a delivery before it came

local marker, mark = argument(), argument()
local records = {}
for i = 1, number() do
  local r = { source = argument(), id = argument(), received = number(), expires = number(), body_hash = argument(),
    held = argument(), former = argument(), whole = argument() == '1' }
  r.t = tag(r.source)
  if r.whole then
    r.fixed, r.headers, r.body, r.deliveries, r.fields = argument(), argument(), argument(), argument(), arguments()
  end
  records[i] = r
end

-- A pruned event is known by the keys it holds alone.
local function is_here(r)
  if r.whole then return call('EXISTS', r.t .. 'e:' .. r.id) == 1 end
  local value = call('GET', r.t .. 'k:' .. string.sub(r.held, 1, 16))
  return value and read_holder(value).id == r.id
end

local last_seq = tonumber(call('GET', prefix .. 'seq') or '0')
local seq = last_seq
local new_sources, holders, passing, former = {}, {}, {}, {}

local function copy_event(r)
  local fixed = pack('>i8i8', seq, r.received) .. r.fixed
  local event = { t = r.t, id = r.id, key = r.t .. 'e:' .. r.id, seq = seq, received = r.received, fixed = fixed,
    deliveries = read_deliveries(r.deliveries), fresh = true, drop = {}, set = { s = fixed, h = r.headers, b = r.body } }
  for at = 1, #r.fields, 2 do event.set[r.fields[at]] = r.fields[at + 1] end
  for _, d in ipairs(event.deliveries) do
    d.was, d.was_due = NOT_THERE, NOT_THERE
    if d.line == 1 then
      local line = line_of(event, d.name)
      add(line.key, seq, r.id)
      add(line.all, seq, r.id)
    end
  end
  move(event)
  new_sources[r.source] = true
end

local function copy_keys(r)
  local value = holder_text({ seq = seq, first = r.received, expires = r.expires, id = r.id, body = r.body_hash })
  local list = r.whole and holders or passing
  for at = 1, #r.held, 16 do
    list[#list + 1] = r.t .. 'k:' .. string.sub(r.held, at, at + 15)
    list[#list + 1] = value
    if not r.whole then list[#list + 1] = expiry_left(r.expires) end
  end
  for at = 1, #r.former, 16 do
    former[#former + 1] = { r.t .. 'l:' .. string.sub(r.former, at, at + 15), string.format('%.0f', seq), r.id }
  end
end

for _, r in ipairs(records) do
  if not is_here(r) then
    seq = seq + 1
    if r.whole then copy_event(r) end
    copy_keys(r)
  end
end

for _, one in ipairs(former) do call('ZCARD', one[1]) end
call('SCARD', prefix .. 'sources')
plan_changes()

call('SET', KEYS[1], marker)
if seq > last_seq then call('SET', prefix .. 'seq', string.format('%.0f', seq)) end
for at = 1, #holders, PART do call('MSET', spread(holders, at, min(at + PART - 1, #holders))) end
for at = 1, #passing, 3 do call('SET', passing[at], passing[at + 1], 'PX', passing[at + 2]) end
for _, one in ipairs(former) do call('ZADD', one[1], one[2], one[3]) end
for source in pairs(new_sources) do call('SADD', prefix .. 'sources', source) end
write_changes()
call('SET', prefix .. 'copy', mark)
return 1
)lua";

// Arguments: the marker of a whole inbox.
const std::string_view kCopyEnd = R"lua(
local marker = argument()
call('DEL', prefix .. 'copy')
call('SET', KEYS[1], marker)
return 1
)lua";

}  // namespace hookonce::redis_lua
