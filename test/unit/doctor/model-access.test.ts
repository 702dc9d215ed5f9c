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

it("checkModel › refuses an address without http, as agents do, and hides the credentials of an address", () => {
  expect(checkModel({ ANTHROPIC_BASE_URL: "localhost:8080" })).toMatchObject({
    level: "fail",
    text: expect.stringContaining("is not an HTTP URL: localhost:8080"),
  });
  expect(checkModel({ ANTHROPIC_BASE_URL: "", ANTHROPIC_API_KEY: "sk-secret" }).level).toBe("ok");
  const found = checkModel({ ANTHROPIC_BASE_URL: "https://me:word@model.test/v1" });
  expect(found).toMatchObject({ level: "ok", text: "https://model.test/v1, without a key" });
  expect(checkModel({ ANTHROPIC_BASE_URL: "me:word@model.test" }).text).toMatch(/URL: model\.test$/);
});

it.each([
  ["https://me:pa#ss@model.test", "fail", "https://model.test"],
  ["https://me:pa/ss@model.test", "fail", "https://model.test"],
  ["https://me:pa?ss@model.test", "fail", "https://model.test"],
  ["https://me:pa@ss@model.test", "ok", "https://model.test"],
  ["https://me:12/ss@model.test", "ok", "https://model.test"],
  ["http:/me:pass@model.test", "ok", "http:/model.test"],
  ["http:///me:pass@model.test", "ok", "http:///model.test"],
  ["http:me:pass@model.test", "ok", "model.test"],
  [" http://me:pass@model.test", "ok", "http://model.test"],
  ["\nhttp://me:pass@model.test", "ok", "http://model.test"],
])("checkModel › shows no credentials when the address is %j", (address, level, shown) => {
  const found = checkModel({ ANTHROPIC_BASE_URL: address });
  expect(found).toMatchObject({ level, text: expect.stringContaining(shown) });
  expect(JSON.stringify(found)).not.toMatch(/me:|pa|ss@|12/);
});

it.each(["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])(
  "checkModel › names the invalid character of a %s",
  (name) => {
    const found = checkModel({ [name]: "sk-secret\u200b" });
    expect([found.level, found.text]).toEqual([
      "fail",
      `${name} contains the character U+200B, which is not allowed in a key`,
    ]);
    expect(checkModel({ [name]: "sk-secret\n" }).level).toBe("ok");
  },
);
