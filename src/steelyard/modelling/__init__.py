"""Everything that fits something: cross-validation, tuning, closed forms of leaving one out, response models.

Classifiers, covariates and true labels come in; results for rows that were left out go out. This is the only room that
calls estimators, and it draws nothing.
"""
