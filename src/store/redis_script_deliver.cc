#include "store/redis_scripts.h"

namespace hookonce::redis_lua {

// Arguments: what an attempt without outcome says behind its start, then per destination: name, slots, lease, attempts,
// give_up, skip_dead. Answer: per lease source, id, destination's place and the lease; then id and destination's place
// of the dead.
const std::string_view kClaim = R"lua(
local OUTCOME_UNKNOWN = 2
local BURIED_MAX = 1000  -- of one destination in one run, which must not take long; the next run goes on

local no_outcome = argument()
local sources = all_sources()

-- The open deliveries to a destination that are due, the longest due first, one after the other and across sources.
local function due_queue(name, part)
  local heads = {}
  local function refill(head)
    head.list = call('ZRANGEBYSCORE', head.key, '-inf', string.format('%.0f', now), 'WITHSCORES', 'LIMIT', head.from, part)
    head.from, head.at = head.from + part, 1
  end
  for _, source in ipairs(sources) do
    local head = { t = tag(source), source = source, from = 0 }
    head.key = head.t .. 'q:' .. name
    refill(head)
    if #head.list > 0 then heads[#heads + 1] = head end
  end
  return function()
    local first, first_due, first_member
    for _, head in ipairs(heads) do
      if head.at > #head.list and #head.list == 2 * part then refill(head) end
      local member, due = head.list[head.at], tonumber(head.list[head.at + 1])
      -- A member begins with its SEQ, the highest byte first, so equal times go by the order of acceptance.
      if member and (not first or due < first_due or
          (due == first_due and parse('>i8', member) < parse('>i8', first_member))) then
        first, first_due, first_member = head, due, member
      end
    end
    if not first then return end
    first.at = first.at + 2
    return first, first_member
  end
end

local leases, dead = {}, {}

local function lease(head, event, d, place_of_name, duration)
  leases[#leases + 1] = { head.source, event.id, place_of_name, take_lease(d, duration) }
  move(event)
end

local function claim(place_of_name, name, slots, duration, attempts, give_up, skip_dead)
  if slots <= 0 or is_paused(name) then return end
  local next_due, buried, leased, skipped = due_queue(name, slots), 0, 0, {}
  while leased < slots and buried < BURIED_MAX do
    local head, member = next_due()
    if not head then break end
    local event = event_of(head.t, string.sub(member, 9))
    local d = event and delivery_of(event, name)
    if not d or not is_open(d.state) then
      remove(head.key, member)  -- Nothing of ours leaves such a member behind; it must not stand in the way for ever.
    else
      local ran_out = d.state == IN_FLIGHT
      if ran_out then
        record_attempt(event, name, d.attempt, pack('>Bi8', OUTCOME_UNKNOWN, d.claimed) .. no_outcome)
      end
      if ran_out and (d.counted >= attempts or now - d.armed >= give_up) then
        d.state, d.ended = DEAD, now
        move(event)
        buried = buried + 1
        dead[#dead + 1] = { event.id, place_of_name }
        if leaves_line(d, skip_dead) then skipped[#skipped + 1] = { event, d } end
      else
        lease(head, event, d, place_of_name, duration)
        leased = leased + 1
      end
    end
  end
  -- What they free comes with the next call.
  for _, one in ipairs(skipped) do leave_line(one[1], one[2]) end
end

local place_of_name = 0
for _ = 1, number() do
  place_of_name = place_of_name + 1
  local name, slots, duration, attempts, give_up = argument(), number(), number(), number(), number()
  claim(place_of_name, name, slots, duration, attempts, give_up, argument() == '1')
end
plan_changes()
write_changes()
return { leases, dead }
)lua";

// Arguments: names of destinations. Answer: nothing, or for how long nothing is due.
const std::string_view kNextDue = R"lua(
local sources = all_sources()
local next_due
for _, name in ipairs(arguments()) do
  for _, source in ipairs(is_paused(name) and {} or sources) do
    local first = call('ZRANGE', tag(source) .. 'q:' .. name, 0, 0, 'WITHSCORES')
    local due = first[2] and tonumber(first[2])
    if due and due ~= HELD and (not next_due or due < next_due) then next_due = due end
  end
end
return next_due and max(0, next_due - now) or false
)lua";

// Arguments: destination, whether it is to be paused. Answer: whether that is news.
const std::string_view kSetPaused = R"lua(
local name = argument()
return call(argument() == '1' and 'SADD' or 'SREM', prefix .. 'paused', name)
)lua";

// Arguments: new key, dead only, create missing, dry run, destination or nothing, state of the event or nothing, then
// ids. Answer: per delivery the id's place in the arguments, name and state before; or nothing where an id is unknown
// and no state was asked for.
const std::string_view kReplay = R"lua(
local new_key, dead_only, create, dry_run = argument() == '1', argument() == '1', argument() == '1', argument() == '1'
local destination, state, must_exist = argument(), tonumber(argument()), argument() == '1'
local replayed = {}

local function replay(event, place_of_id, d)
  replayed[#replayed + 1] = { place_of_id, d.name, d.state }
  if d.state == IN_FLIGHT or dry_run then return false end
  arm(d)
  d.replay = 1
  if new_key then
    d.new_keys = d.new_keys + 1
    d.new_key = d.new_keys
  else
    d.new_key = 0
  end
  move(event)
  return true
end

local function replay_event(event, place_of_id)
  for _, d in ipairs(event.deliveries) do
    if (destination == '' or d.name == destination) and (not dead_only or d.state == DEAD) then
      replay(event, place_of_id, d)
    end
  end
  if create and destination ~= '' and not dead_only and not delivery_of(event, destination) then
    local d = new_delivery(destination)
    if replay(event, place_of_id, d) then event.deliveries[#event.deliveries + 1] = d end
  end
end

for place_of_id, id in ipairs(arguments()) do
  local event = find_event(id)
  if not event and must_exist then return { 0, place_of_id } end
  -- Between the search and now it may have become another one's.
  if event and (not state or state == event_state(event)) then replay_event(event, place_of_id) end
end
plan_changes()
write_changes()
return { 1, replayed }
)lua";

// Arguments: destination, whether it is ordered, whether its dead are skipped. Answer: whether there may be more.
const std::string_view kLineRule = R"lua(
local FREED_MAX = 500  -- of one source in one run, which must not take long
local name, ordered, skip_dead = argument(), argument() == '1', argument() == '1'
local more = 0

for _, source in ipairs(ordered and not skip_dead and {} or all_sources()) do
  local t = tag(source)
  local all, ids = t .. 'W:' .. name, nil
  if ordered then
    -- Of the dead there are few, beside what may stand in lines.
    ids = call('EXISTS', all) == 1 and call('ZRANGE', t .. 'd', 0, -1) or {}
  else
    ids = call('ZRANGE', all, 0, FREED_MAX - 1)
  end
  local freed = 0
  for _, id in ipairs(ids) do
    if freed >= FREED_MAX then break end
    local event = (not ordered or call('ZSCORE', all, id)) and event_of(t, id)
    local d = event and delivery_of(event, name)
    if d and d.line == 1 and (not ordered or leaves_line(d, skip_dead)) then
      leave_line(event, d)
      freed = freed + 1
    end
  end
  if freed >= FREED_MAX then more = 1 end
end
plan_changes()
write_changes()
return more
)lua";

}  // namespace hookonce::redis_lua
