-- The installation's own mail is a notice; mail that asks somebody to confirm being on a list is a confirmation (product/email).
UPDATE email SET source = 'notice' WHERE source = 'confirmation';
UPDATE email SET source = 'confirmation' WHERE source = 'double_opt_in';
