import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Backend } from "../../../src/backend/backend.ts";
import type { OperationContext } from "../../../src/operations/context.ts";
import { systemClock } from "../../../src/os/clock.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/** The context of a lead whose teammates have only place records; it records closed places in a directory. */
export function reconcileContext(ref: TeamRef): OperationContext {
  const backend = {
    close: async (places: readonly { readonly instance: string }[]) => {
      for (const { instance } of places) mkdirSync(join(closedIn(ref), instance), { recursive: true });
    },
    present: async () => new Set<string>(),
  } as unknown as Backend;
  return {
    home: ref.home,
    ref,
    actor: LEAD_NAME,
    env: {},
    clock: systemClock,
    cwd: "/",
    backends: { choose: () => Promise.reject(new Error("Nothing is started here.")), of: () => backend },
    program: [],
  };
}

/** Lists the instances whose places were closed. */
export function closedPlaces(ref: TeamRef): string[] {
  return existsSync(closedIn(ref)) ? readdirSync(closedIn(ref)) : [];
}

function closedIn(ref: TeamRef): string {
  return join(ref.home.root, `closed-${ref.team}`);
}
