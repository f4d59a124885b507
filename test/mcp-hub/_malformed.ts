/** A service whose lists hold every kind of malformed item, and what the hub lists of each. */
const object = { type: "object" };
const good = { name: "good", description: "Works", inputSchema: object };

/** What is offered of each: undefined where it is left out. */
export const TOOLS: [tool: unknown, offered: object | undefined, reason: RegExp][] = [
  [{ name: "no-schema" }, { inputSchema: object }, /inputSchema is missing/],
  [{ name: "null-schema", inputSchema: null }, { inputSchema: object }, /inputSchema is missing/],
  [{ name: "no-type", inputSchema: { properties: {} } }, { inputSchema: { type: "object", properties: {} } }, /type/],
  [{ name: "array-schema", inputSchema: [] }, undefined, /inputSchema/],
  [{ name: "string-type", inputSchema: { type: "string" } }, undefined, /inputSchema\.type/],
  [
    { name: "null-properties", inputSchema: { type: "object", properties: null } },
    { inputSchema: object },
    /inputSchema\.properties is left out/,
  ],
  [
    { name: "odd-property", inputSchema: { type: "object", properties: { a: 5, b: true, c: { type: "string" } } } },
    { inputSchema: { type: "object", properties: { a: {}, b: {}, c: { type: "string" } } } },
    /inputSchema\.properties\.a/,
  ],
  [{ ...good, name: "numeric-description", description: 42 }, { inputSchema: object }, /description is left out/],
  [{ ...good, name: "string-annotations", annotations: "safe" }, { description: "Works" }, /annotations is left out/],
  [
    { ...good, name: "odd-hint", annotations: { readOnlyHint: "yes", destructiveHint: true } },
    { annotations: { destructiveHint: true } },
    /annotations\.readOnlyHint/,
  ],
  [
    { ...good, name: "bad-icon", icons: [{ theme: "dark" }, { src: "data:," }] },
    { icons: [{ src: "data:," }] },
    /icons\.0/,
  ],
  [
    { ...good, name: "no-ref", outputSchema: { type: "object", properties: { a: { $ref: "#/$defs/nowhere" } } } },
    { description: "Works" },
    /outputSchema is left out: can't resolve/,
  ],
  [{ ...good, name: "output-array", outputSchema: { type: "array" } }, { description: "Works" }, /outputSchema/],
  [{ ...good, name: "string-meta", _meta: "x" }, { description: "Works" }, /_meta is left out/],
  [{ ...good, name: 7 }, undefined, /name is missing or not a text/],
  ["a text", undefined, /not an object/],
  [null, undefined, /not an object/],
];
export const PROMPTS: typeof TOOLS = [
  [{ name: "odd-arguments", arguments: "all" }, {}, /arguments is left out/],
  [
    { name: "nameless-argument", arguments: [{ description: "x" }, { name: "b" }] },
    { arguments: [{ name: "b" }] },
    /arguments\.0/,
  ],
  [{ description: "nameless" }, undefined, /name is missing/],
];
export const RESOURCES: typeof TOOLS = [
  [{ uri: "x://nameless", title: "Title" }, { name: "Title" }, /name is missing/],
  [{ uri: "x://size", name: "size", size: "large" }, { name: "size" }, /size is left out/],
  [{ name: "nowhere" }, undefined, /uri is missing/],
];
export const TEMPLATES: typeof TOOLS = [[{ uriTemplate: "x://{a}" }, { name: "x://{a}" }, /name is missing/]];

export const lists = {
  tools: [good, ...TOOLS.map(([tool]) => tool), { name: "last", inputSchema: object }],
  prompts: [{ name: "fine" }, ...PROMPTS.map(([item]) => item)],
  resources: [{ uri: "x://fine", name: "fine" }, ...RESOURCES.map(([item]) => item)],
  resourceTemplates: TEMPLATES.map(([item]) => item),
};
