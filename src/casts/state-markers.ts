import { basename, dirname } from "node:path";
import { readText } from "../os/files/fs.ts";
import { watchDirectory } from "../os/files/watch.ts";
import { AGENT_STATES, type AgentState } from "../schema/status.ts";

/**
 * Reports each change of an agent's state. Reads the agent's status record only when the record changes.
 * @returns a function that stops the reports
 */
export function followStates(path: string, onMarker: (label: string) => void): () => void {
  let last: AgentState | undefined;
  const poll = (): void => {
    const state = stateIn(path);
    if (state === undefined || state === last) return;
    last = state;
    onMarker(`state: ${state}`);
  };
  poll();
  const watch = watchDirectory(dirname(path), (name) => {
    if (name === basename(path)) poll();
  });
  return () => watch?.close();
}

function stateIn(path: string): AgentState | undefined {
  try {
    const { state } = JSON.parse(readText(path) ?? "{}") as { readonly state?: unknown };
    return AGENT_STATES.find((one) => one === state);
  } catch {
    // A killed writer left half a record, or it cannot be read: the screen is recorded without this marker.
    return undefined;
  }
}
