import { expect, test } from "vitest";
import { attackedRepository, NAMESPACE_ATTACK } from "../../../support/sandbox/namespace-attack.ts";
import { describeInSandbox, sandboxedAgent } from "../../../support/sandbox/sandboxed-agent.ts";

/** `test/e2e/cli/other-users.test.ts` makes the same attack as an ordinary user. */
describeInSandbox("a nested user namespace in the sandbox", () => {
  test.each(["none", "allow"] as const)(
    "cannot be entered to replace git's files, with network %s",
    async (network) => {
      let changed: () => readonly string[] = () => [];
      const { bash } = await sandboxedAgent({
        setting: { network },
        prepare: (_, project) => {
          changed = attackedRepository(project);
        },
      });
      for (let time = 0; time < 2; time += 1) {
        expect((await bash(NAMESPACE_ATTACK)).isError).toBe(false);
        expect(changed()).toEqual([]);
      }
    },
  );
});
