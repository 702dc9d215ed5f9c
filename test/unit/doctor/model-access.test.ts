import { expect, it } from "vitest";
import { checkModel } from "../../../src/doctor/model-access.ts";

it("checkModel judges the environment and never shows the key", () => {
  expect(checkModel({}).level).toBe("warn");
  const found = checkModel({ ANTHROPIC_API_KEY: "sk-secret" });
  expect(found.level).toBe("ok");
  expect(JSON.stringify(found)).not.toContain("sk-secret");
  expect(checkModel({ ANTHROPIC_BASE_URL: "nonsense" }).level).toBe("fail");
  expect(checkModel({ ANTHROPIC_BASE_URL: "http://localhost:1" }).level).toBe("ok");
});
