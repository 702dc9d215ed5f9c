/**
 * Returns the sequence with which an agent in a user's pane ends its recording. It arrives in order with the agent's output, so
 * nothing before it is lost, and nothing after it is recorded. Terminals ignore this number.
 * @param word known only to the agent, so that no other output can contain it
 */
export function endSequence(word: string): string {
  return `\x1b]7773;teams;${word}\x07`;
}
