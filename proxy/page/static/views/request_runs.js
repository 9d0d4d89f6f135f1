/* Messages of one fate after another, put away as one line.

   runs(messages)   [{message} | {run: messages}], in their order: what did not go is put away from three messages on, of what
                    went the middle of many */

const LEAST = 3; // messages that did not go
const MANY = 12; // messages that went
const [FIRST, LAST] = [2, 6]; // of many, those that are shown
const ABSENT = ["folded", "left out", "marker"];

export function runs(messages) {
  const found = [];
  for (let at = 0; at < messages.length; ) {
    const { fate } = messages[at];
    let end = at + 1;
    while (end < messages.length && messages[end].fate === fate) end += 1;
    found.push(...pieces(messages.slice(at, end), ABSENT.includes(fate)));
    at = end;
  }
  return found;
}

function pieces(same, isAbsent) {
  const each = (some) => some.map((message) => ({ message }));
  if (isAbsent) return same.length >= LEAST ? [{ run: same }] : each(same);
  if (same.length <= MANY) return each(same);
  return [...each(same.slice(0, FIRST)), { run: same.slice(FIRST, -LAST) }, ...each(same.slice(-LAST))];
}
