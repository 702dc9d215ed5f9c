import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { TeamError } from "../../../../src/errors.ts";
import { teamConfig } from "../../../../src/schema/config.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { findMember, findRecipient, lookUpMember } from "../../../../src/team/members/members.ts";
import { writeSettled } from "../../../support/files/settled-file.ts";
import { cases, corrupted, json, unknownFields } from "../../../support/random/arbitraries.ts";
import { testTeam } from "../../../support/team/test-team.ts";

// Many cases, possibly on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const word = fc.string({ minLength: 1, maxLength: 9 });
const member = fc.tuple(unknownFields, word).map(([more, name]) => ({ ...more, name }));
const former = fc.record({ name: word, agentId: word, endedAt: fc.nat(), how: word });
/** The fields that a reader needs, and any others. */
const valid = fc
  .tuple(unknownFields, fc.array(member, { maxLength: 4 }), fc.array(former, { maxLength: 2 }))
  .map(([more, members, ended]) => ({ ...more, name: "crew", members, former: ended }));
const keys = ["description", "createdAt", "leadAgentId", "leadProcess", "metadata", "joinedCount", "members"];
const loose = fc
  .tuple(valid, fc.dictionary(fc.constantFrom(...keys), json))
  .map(([all, more]) => ({ ...all, ...more }));

test("teamConfig keeps all fields of a config that has the required ones", () => {
  fc.assert(
    fc.property(valid, (config) => {
      expect(teamConfig.parse(config)).toMatchObject(config);
    }),
    cases(8_000),
  );
});

test("teamConfig never throws for any value", () => {
  fc.assert(
    fc.property(fc.oneof(loose, json), (value) => void teamConfig.safeParse(value)),
    cases(12_000),
  );
});

test("findMember and findRecipient return the member or throw a TeamError for any address", () => {
  fc.assert(
    fc.property(valid, fc.oneof(word, fc.string()), (value, address) => {
      const config = teamConfig.parse(value);
      const found = lookUpMember(config, address);
      for (const find of [findMember, findRecipient]) {
        if (found !== undefined) expect(find(config, address)).toBe(found);
        else expect(() => find(config, address)).toThrow(TeamError);
      }
    }),
    cases(8_000),
  );
});

test("updateTeam on a damaged config keeps all fields, or fails and leaves the file unchanged", async () => {
  const ref = await testTeam();
  const text = fc.oneof(
    loose.map((value) => JSON.stringify(value)),
    corrupted(valid.map((value) => JSON.stringify(value))),
  );
  await fc.assert(
    fc.asyncProperty(text, async (before) => {
      writeSettled(ref.paths.config, before);
      const changed = await updateTeam(ref, (config) => ({ ...config, description: "new" })).catch(
        (error) => error,
      );
      if (changed instanceof Error) {
        expect(changed).toMatchObject({ code: "CORRUPT_FILE" });
        expect(readFileSync(ref.paths.config, "utf8")).toBe(before);
        return;
      }
      expect(readTeam(ref).description).toBe("new");
      const known = Object.entries(JSON.parse(before)).filter(([key]) => key.startsWith("x-"));
      expect(JSON.parse(readFileSync(ref.paths.config, "utf8"))).toMatchObject(Object.fromEntries(known));
    }),
    cases(100),
  );
});
